// Package hook asks the host about commands before they are carried out: send, edit, send_packet, create_room, invite and grab
// of an open packet. It implements api.Hooks with one signed HTTP request for each question.
//
// Package hook owns the limits that keep a slow or broken host from delaying more than the commands that it is asked about: a
// time limit for each question, and for each command limits on concurrent questions, of all users and of each, and a circuit breaker. The
// following must always hold:
//
//   - Ask returns within the time limit and the wait for a place, whatever the host does.
//   - Users cannot make a command be carried out without the host's verdict by asking much.
//   - One call of Ask asks the host at most once, because the host may have taken money.
package hook
