"""`sapsim bench`: the time of a step on standard scenes and on scene files, beside other engines in the same process."""
