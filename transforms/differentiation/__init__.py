"""Forward and reverse mode over the single-assignment form."""
