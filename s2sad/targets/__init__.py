"""What runs a derivative of one sweep other than Python itself: compilers of the generated code."""
