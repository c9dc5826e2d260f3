"""What the page Head maps is made of."""
