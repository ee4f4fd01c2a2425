// Package events gives the event stream to the host: routes of the server API by which a host reads it, and a webhook to which
// it is delivered. It measures how late each reader is, and it finds users without a socket for whom there is news.
//
// It must always hold:
//
//   - An event is delivered at least once, with the same id each time. The position moves past an event only after the webhook has
//     accepted the event, or in the transaction that stores it as held.
//   - The events of one room, and those of one user, are delivered in order. A refused event delays only the events of its room
//     or user.
//   - While the webhook accepts nothing, nothing is stored: the position waits. So a dead host does not make the database grow.
//   - One instance delivers at a time. It stops when it cannot renew its lease.
//   - A webhook reaches only the addresses that Target allows, checked for each connection, and follows no redirect.
//
// Its goroutines:
//
//	goroutine  started by            ends when                    may block on
//	Run        the caller            ctx ends                     the store and the webhook, each with a time limit
//	look (2)   Run                   ctx ends                     the store and presence; see lookForAbsent
//	lease      Run and look          the lease is given back      the store
//	poll       a request that waits  no request waits             the store
//	worker     a batch               its key has no more events   the webhook
package events
