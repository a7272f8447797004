"""Program to program, kinds known, up to what is differentiated."""
