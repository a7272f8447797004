"""What is rewritten once kinds are known: calls put in, attributes made variables, writes made stores."""
