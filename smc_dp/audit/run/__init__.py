"""What an auditor can find out about one run, from its record, its release and its participants' views."""
