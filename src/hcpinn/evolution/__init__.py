"""Networks whose output weights move in time as a stiff ODE."""
