"""Relay of one study under Flower: a ServerApp with the frames, and a ClientApp that passes bytes on at a site."""
