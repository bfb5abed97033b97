// The lift of lift.py with four floors, for comparison.
system Lift {
  var floor: 0..3 = 0, opened: bool = false
  var zero: bool = false, one: bool = false, two: bool = false, three: bool = false
  input call(f: 0..3)
  output up, down, open, close

  initial state Lift {
    ?call(f) / zero := zero || f == 0, one := one || f == 1, two := two || f == 2, three := three || f == 3 -> Lift
    !close [opened] / opened := false -> Lift
    !open [!opened && floor == 0 && zero] / opened := true, zero := false -> Lift
    !open [!opened && floor == 1 && one] / opened := true, one := false -> Lift
    !open [!opened && floor == 2 && two] / opened := true, two := false -> Lift
    !open [!opened && floor == 3 && three] / opened := true, three := false -> Lift
    !up [!opened && floor == 0 && !zero && (one || two || three)] / floor := 1 -> Lift
    !up [!opened && floor == 1 && !one && (two || three)] / floor := 2 -> Lift
    !up [!opened && floor == 2 && !two && three] / floor := 3 -> Lift
    !down [!opened && floor == 1 && !one && zero] / floor := 0 -> Lift
    !down [!opened && floor == 2 && !two && (zero || one)] / floor := 1 -> Lift
    !down [!opened && floor == 3 && !three && (zero || one || two)] / floor := 2 -> Lift
  }
}
