"""How rankings become numbers: measures, correlation, significance, agreement, pools."""
