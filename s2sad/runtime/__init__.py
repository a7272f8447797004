"""What generated code calls while it runs."""
