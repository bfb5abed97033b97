(set-logic ALL)
; a call or a quantifier that is not unfolded: j'1.id == 1 && j'1.description == "A00b" && j'1.x == 1 && j'1.y == 1 && gcd is defined(j'1.x, j'1.y) && j'2.id == 2 && j'2.description == "A00bx" && j'2.x == 9007199254740991 && j'2.y == 89180190641000 && gcd is defined(j'2.x, j'2.y) && (j'1.id != 1 || j'1.description != "A00b" || j'1.x != 1 || j'1.y != 1 || !gcd is defined(j'1.x, j'1.y) || j'2.id != 2 || j'2.description != "A00bx" || j'2.x != 9007199254740991 || j'2.y != 89180190641000 || !gcd is defined(j'2.x, j'2.y) || gcd is defined(j'1.x, j'1.y) && (gcd is defined(j'2.x, j'2.y) || gcd(j'1.x, j'1.y) != 1)) && gcd(j'1.x, j'1.y) == 1 && gcd(j'2.x, j'2.y) == 1
(check-sat)
(get-model)
