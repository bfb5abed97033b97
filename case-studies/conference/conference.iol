// The Conference Protocol: one protocol entity of a chat box, user 1, among the users 2 and 3.
//
// A rebuild. [IOCO99, §5] describes the protocol in one paragraph ("a chatbox": join a group, chat with
// its members, leave it, on top of UDP) and its specifications are not to be had. What the paragraph
// leaves open was decided here, before the mutants were written.
//
// The entity has two service access points. At the upper one its user asks to join conference c, to say
// a text t, and to leave, and hears what others say. At the lower one it exchanges datagrams with the
// entities of the other users p: join, answer, data and leave, each with the number of the conference.
//
// UDP may lose and reorder datagrams. So every datagram may come at any time, also while the entity has
// not yet sent what it owes: an answer of somebody who left long ago, data of somebody whose join was
// lost. One datagram waits in the inbox while the entity is busy with another; of more than that nothing
// is said. Datagrams of other conferences are ignored.
//
// A user asks for the next thing when the last is done. The model says nothing of one who does not wait,
// who joins twice, or who speaks or leaves without having joined.

// What is tested.
system Node = hide takeJoin, takeAnswer, takeData, takeLeave in
  (Inbox |[takeJoin, takeAnswer, takeData, takeLeave]| Entity)

// Datagrams wait for the entity here.
system Inbox {
  var from: 2..3 = 2, conf: 1..2 = 1, text: 1..3 = 1
  input joinFrom(p: 2..3, c: 1..2), answerFrom(p: 2..3, c: 1..2)
  input dataFrom(p: 2..3, c: 1..2, t: 1..3), leaveFrom(p: 2..3, c: 1..2)
  output takeJoin(p: 2..3, c: 1..2), takeAnswer(p: 2..3, c: 1..2)
  output takeData(p: 2..3, c: 1..2, t: 1..3), takeLeave(p: 2..3, c: 1..2)

  initial state Empty {
    ?joinFrom(p, c) / from := p, conf := c -> Join
    ?answerFrom(p, c) / from := p, conf := c -> Answer
    ?dataFrom(p, c, t) / from := p, conf := c, text := t -> Data
    ?leaveFrom(p, c) / from := p, conf := c -> Leave
  }
  // What was in it is forgotten.
  state Join {
    !takeJoin(p, c) [p == from && c == conf] / from := 2, conf := 1 -> Empty
  }
  state Answer {
    !takeAnswer(p, c) [p == from && c == conf] / from := 2, conf := 1 -> Empty
  }
  state Data {
    !takeData(p, c, t) [p == from && c == conf && t == text] / from := 2, conf := 1, text := 1 -> Empty
  }
  state Leave {
    !takeLeave(p, c) [p == from && c == conf] / from := 2, conf := 1 -> Empty
  }
}

// The same where user 2 is always told before user 3. The protocol leaves that open; whoever knows it of an implementation gets
// a complete suite of a size that can be run.
system OrderedEntity = Entity(ordered = true)

system Entity {
  const ordered: bool = false
  // The conference; 0 is none.
  var conf: 0..2 = 0
  // Who takes part, as far as is known.
  var two: bool = false, three: bool = false
  // Of what is owed: the text, and the user who is served already (or, for an answer, who is to be served).
  var text: 0..3 = 0, served: 0..3 = 0

  // From the user, and from the inbox.
  input join(c: 1..2), say(t: 1..3), leave
  input takeJoin(p: 2..3, c: 1..2), takeAnswer(p: 2..3, c: 1..2)
  input takeData(p: 2..3, c: 1..2, t: 1..3), takeLeave(p: 2..3, c: 1..2)
  // To the user, and to the entities of other users.
  output heard(p: 2..3, t: 1..3)
  output joinTo(p: 2..3, c: 1..2), answerTo(p: 2..3, c: 1..2)
  output dataTo(p: 2..3, c: 1..2, t: 1..3), leaveTo(p: 2..3, c: 1..2)

  initial state Out {
    ?join(c) / conf := c -> Joining
    // Whatever comes from the network is of conferences that the user is not in.
    ?takeJoin -> Out
    ?takeAnswer -> Out
    ?takeData -> Out
    ?takeLeave -> Out
  }

  // Everybody who might be in the conference is told, in any order.
  state Joining {
    !joinTo(p, c) [c == conf && (p == 2 || !ordered)] / served := p -> JoiningOther
  }
  state JoiningOther {
    !joinTo(p, c) [c == conf && p != served] / served := 0 -> In
  }

  state In {
    ?say(t) [!two && !three] -> In
    ?say(t) [two && three] / text := t -> Saying
    ?say(t) [two && !three] / text := t, served := 3 -> SayingOther
    ?say(t) [!two && three] / text := t, served := 2 -> SayingOther

    ?leave [!two && !three] / conf := 0 -> Out
    ?leave [two && three] -> Leaving
    ?leave [two && !three] / served := 3 -> LeavingOther
    ?leave [!two && three] / served := 2 -> LeavingOther

    // Whoever joins is answered, also a second time: the first answer may have been lost.
    ?takeJoin(p, c) [c == conf] / two := two || p == 2, three := three || p == 3, served := p -> Answering
    ?takeJoin(p, c) [c != conf] -> In
    ?takeAnswer(p, c) [c == conf] / two := two || p == 2, three := three || p == 3 -> In
    ?takeAnswer(p, c) [c != conf] -> In
    // Data of somebody who is not known: the join or the answer was lost, and this one takes part.
    ?takeData(p, c, t) [c == conf] / two := two || p == 2, three := three || p == 3, served := p, text := t -> Hearing
    ?takeData(p, c, t) [c != conf] -> In
    ?takeLeave(p, c) [c == conf] / two := two && p != 2, three := three && p != 3 -> In
    ?takeLeave(p, c) [c != conf] -> In
  }

  state Answering {
    !answerTo(p, c) [p == served && c == conf] / served := 0 -> In
  }
  state Hearing {
    !heard(p, t) [p == served && t == text] / served := 0, text := 0 -> In
  }

  // What the user says goes to everybody who takes part, in any order.
  state Saying {
    !dataTo(p, c, t) [c == conf && t == text && (p == 2 || !ordered)] / served := p -> SayingOther
  }
  state SayingOther {
    !dataTo(p, c, t) [c == conf && t == text && p != served] / served := 0, text := 0 -> In
  }

  state Leaving {
    !leaveTo(p, c) [c == conf && (p == 2 || !ordered)] / served := p -> LeavingOther
  }
  state LeavingOther {
    !leaveTo(p, c) [c == conf && p != served] / conf := 0, two := false, three := false, served := 0 -> Out
  }
}
