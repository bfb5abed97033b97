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
// UDP may lose and reorder datagrams. So every datagram may come at any time: an answer of somebody who
// left long ago, data of somebody whose join was lost. Datagrams of other conferences are ignored.
//
// Inputs are specified where nothing is owed. So no input can cross an output that is under way, and the
// model means the same whether tester and entity step together or messages wait in queues between them.
// It says nothing of a user who joins twice, or who speaks or leaves without having joined.

system Entity {
  // The conference; 0 is none.
  var conf: 0..2 = 0
  // Who takes part, as far as is known.
  var two: bool = false, three: bool = false
  // Of what is owed: the text, and the user who is served already (or, for an answer, who is to be served).
  var text: 0..3 = 0, served: 0..3 = 0

  // From the user, and from the entities of other users.
  input join(c: 1..2), say(t: 1..3), leave
  input joinFrom(p: 2..3, c: 1..2), answerFrom(p: 2..3, c: 1..2)
  input dataFrom(p: 2..3, c: 1..2, t: 1..3), leaveFrom(p: 2..3, c: 1..2)
  // To the user, and to the entities of other users.
  output heard(p: 1..3, t: 0..3)
  output joinTo(p: 2..3, c: 1..2), answerTo(p: 2..3, c: 1..2)
  output dataTo(p: 2..3, c: 1..2, t: 1..3), leaveTo(p: 2..3, c: 1..2)

  initial state Out {
    ?join(c) / conf := c -> Joining
    // Whatever comes from the network is of conferences that the user is not in.
    ?joinFrom -> Out
    ?answerFrom -> Out
    ?dataFrom -> Out
    ?leaveFrom -> Out
  }

  // Everybody who might be in the conference is told, in any order.
  state Joining {
    !joinTo(p, c) [c == conf] / served := p -> JoiningOther
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
    ?joinFrom(p, c) [c == conf] / two := two || p == 2, three := three || p == 3, served := p -> Answering
    ?joinFrom(p, c) [c != conf] -> In
    ?answerFrom(p, c) [c == conf] / two := two || p == 2, three := three || p == 3 -> In
    ?answerFrom(p, c) [c != conf] -> In
    // Data of somebody who is not known: the join or the answer was lost, and this one takes part.
    ?dataFrom(p, c, t) [c == conf] / two := two || p == 2, three := three || p == 3, served := p, text := t -> Hearing
    ?dataFrom(p, c, t) [c != conf] -> In
    ?leaveFrom(p, c) [c == conf] / two := two && p != 2, three := three && p != 3 -> In
    ?leaveFrom(p, c) [c != conf] -> In
  }

  state Answering {
    !answerTo(p, c) [p == served && c == conf] / served := 0 -> In
  }
  state Hearing {
    !heard(p, t) [p == served && t == text] / served := 0, text := 0 -> In
  }

  // What the user says goes to everybody who takes part, in any order.
  state Saying {
    !dataTo(p, c, t) [c == conf && t == text] / served := p -> SayingOther
  }
  state SayingOther {
    !dataTo(p, c, t) [c == conf && t == text && p != served] / served := 0, text := 0 -> In
  }

  state Leaving {
    !leaveTo(p, c) [c == conf] / served := p -> LeavingOther
  }
  state LeavingOther {
    !leaveTo(p, c) [c == conf && p != served] / conf := 0, two := false, three := false, served := 0 -> Out
  }
}
