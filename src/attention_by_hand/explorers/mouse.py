"""The explorers of the track mouse."""

# mouse/01

# mouse/02

# mouse/03

# mouse/04
