// Package events gives the event stream to the host: routes of the server API by which a host reads it, and a webhook to which
// it is delivered. It measures how late each reader is, and it finds users without a socket for whom there is news.
//
// It must always hold:
//
//   - An event is delivered at least once, with the same id each time. There are three exceptions. The event was deleted, as
//     all events are after a time; or it cannot be read; or it is parked. A parked event was refused for 72 hours, or came when too
//     many events were held.
//   - The position moves past any other event only after the webhook has accepted the event, or in the transaction that stores it as
//     held. Only put_consumer moves it elsewhere.
//   - The events of one room, and those of one user, are delivered in order, except parked ones: later events overtake them.
//   - A refused event delays only the events of its room or user.
//   - While the host does not answer, or answers each event with an error such as 500, nothing is stored: the position waits. So a
//     dead host does not make the database grow. The function refuses names the exception, a room or user that alone has events.
//   - One instance delivers at a time. It stops when it cannot renew its lease.
//   - A webhook reaches only the addresses that hostcall.Target allows, checked for each connection, and follows no redirect.
//
// Its goroutines:
//
//	goroutine  started by            ends when                             may block on
//	Run        the caller            ctx ends                              the store
//	delivery   Run                   ctx ends                              the store and the webhook
//	look (2)   Run                   ctx ends                              the store and presence; see lookForAbsent
//	lease      delivery and look     ctx ends, or the lease is lost        the store
//	poll       a request that waits  no request waits                      the store, at most pollTimeout
//	worker     delivery              its key is done or has failed         the webhook, at most sendTime an event, and the store
//	judge      look                  one entry is judged                   the store and presence
package events
