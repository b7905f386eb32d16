"""What makes two short answers equal: numbers, quantities, formulas, sets, equations, reactions, dates."""
