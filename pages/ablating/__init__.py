"""The views of the page Ablations."""
