"""Functions and their source text: reading, matching code objects, compiling, locating errors."""
