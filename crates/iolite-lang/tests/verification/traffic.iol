// Two lights by an enumeration and a timer.
enum Colour { red, amber, green }
system S {
  var north: Colour = green, east: Colour = red, timer: int = 0
  internal tick
  output LIGHTS(n: Colour, e: Colour)
  initial state Q {
    tick [timer < 10] / timer := timer + 1 -> Q
    tick [timer >= 10 && north == green] / north := amber, timer := 0 -> Q
    tick [timer >= 10 && north == amber] / north := red, east := green, timer := 0 -> Q
    tick [timer >= 10 && east == green] / east := amber, timer := 0 -> Q
    tick [timer >= 10 && east == amber] / east := red, north := green, timer := 0 -> Q
    !LIGHTS(n, e) [n == north && e == east] -> Q
  }
}
observer W for S {
  initial state Ok { !LIGHTS(n, e) [n != red && e != red] -> Bad   * -> Ok }
  violate state Bad
}
