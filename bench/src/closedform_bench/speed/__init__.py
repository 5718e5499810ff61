"""Speed as ratios within one run: against limits, against parts, against others, and with size."""
