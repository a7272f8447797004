"""What makes of generated code the code that a person would write."""
