"""Rewrites that need kinds: calls are inlined, attributes become variables, writes become stores."""
