"""Functions and their text: reading, matching code objects, compiling, locating errors."""
