"""Units of inputs: which formulas they allow, and which units fitted constants carry."""
