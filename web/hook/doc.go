// Package hook asks the host about commands before they are carried out: send, edit, send_packet, create_room, invite and grab of an open
// packet. It implements api.Hooks by one signed HTTP request for each
// question.
//
// It owns the limits that keep a slow or broken host from costing more than the command that asked: a time for each question, a number
// of questions of each command at once, and a breaker. The following must always hold: Ask returns within the time, whatever the host
// does; and nothing is asked twice for one call of Ask, because the host may have taken money.
package hook
