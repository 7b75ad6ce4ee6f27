"""The protocols that compute a functionality: settings, bindings of programs, sessions, and what comes out."""
