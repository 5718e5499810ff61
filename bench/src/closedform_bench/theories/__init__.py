"""Made contests: rival formulas with free constants, and networks trained on one of them."""
