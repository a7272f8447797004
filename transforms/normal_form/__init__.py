"""From what a person writes to the normal form, and from there to single assignment."""
