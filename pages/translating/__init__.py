"""What the page Translation is made of: one module for each tab, and what they share."""
