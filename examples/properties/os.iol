// What the operating system of os.py must keep to; no model of it is needed.

// Each secure operation is logged or denied in the end: a response property. Silence while one is
// pending violates it.
property Answered over { ?op_sec, !log, !deny } = ltl G (?op_sec -> F (!log or !deny))

// A result is logged before it is given: a safety property, over outputs only, so that the tester's
// own haste does not matter.
property LogFirst over { !log, !crypt } = always (!log !crypt)* (eps | !log)

// Maintenance can be reached: a guarantee property, for `--property-relation non-disjointness`.
property Maintained over { ?auth_req, ?maintain, !maintenance } = ltl F !maintenance
