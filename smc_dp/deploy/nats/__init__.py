"""NATS JetStream as a carrier: one stream for each study, where each site reaches only what is its own."""
