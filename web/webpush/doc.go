// Package webpush sends notifications to the push services of browsers (Web Push: RFC 8030, 8291 and 8292).
//
// It must always hold:
//
//   - Send never blocks. Each host has a bounded queue and a bounded number of requests under way.
//   - A host that does not answer delays only its own notifications. Hosts that have never taken one share half of the slots.
//   - A request goes only to a public address, unless the operator has allowed the host by name. The address is checked when it
//     is dialled, so a name that resolves to another address later is no way around.
//   - No redirect is followed, no proxy is used, and little of an answer is read.
//   - A subscription that its push service no longer knows (404, 410) is removed.
//
// Its goroutines:
//
//	goroutine  started by  ends when                        may block on
//	worker     Send        its host has nothing to be sent  a slot, the push service, the removal of a subscription
package webpush
