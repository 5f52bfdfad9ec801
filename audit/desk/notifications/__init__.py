"""The page on which an officer lets browsers notify him."""
