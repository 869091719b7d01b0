"""The annotation page: people label what the pillars sampled, and the pillars read their labels back."""
