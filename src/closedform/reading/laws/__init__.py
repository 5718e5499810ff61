"""What flows, trajectories, pairs and learned simulators conserve."""
