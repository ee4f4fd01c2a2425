// Package webpush tells users that have no socket what they would miss: by notifications to the push services of their browsers (Web Push:
// RFC 8030, 8291 and 8292).
//
// A Notifier is a Publisher in front of another one. It passes everything on, and looks only at entries. Of those that this instance has
// committed it takes the ones that are news: a packet, a mention, a direct message. So exactly one instance tells of an entry. What is lost is not sent again: the entry is in the room.
//
// It must always hold:
//
//   - Entry never blocks, and does nothing but copy into a bounded queue. What does not fit is counted and dropped.
//   - A user is told only of rooms that the user is in and has not silenced, and of entries that the user has not read.
//   - Of one kind of news of a room, a user is told at once and then at most once in each quiet period, for all that came meanwhile.
//   - A notification holds names, and no text of a message. It is encrypted for the browser, and of the same size whatever it holds.
//   - A request goes only to a public address and port 443, unless the operator has allowed the host by name (package dial).
//   - It imports chat and web/dial, and knows packets only as entries.
//   - No redirect is followed, no proxy is used, and little of an answer is read.
//   - Each push service has a bounded queue and a bounded number of requests under way, and all queues together are bounded, too. A host
//     that has not answered quickly the last time shares a quarter of the requests with all such hosts. So it delays only these.
//   - One user begins a bounded number of the topics that wait, whatever ids the texts of that user mention.
//   - A subscription that its push service no longer knows (404, 410) is removed.
//
// Its goroutines:
//
//	goroutine  started by    ends when                        may block on
//	collect    Notifier.Run  its context ends                 the store, with a time limit
//	deliver    Notifier.Run  its context ends                 the store and the presence directory, with a time limit
//	worker     a delivery    its host has nothing to be sent  a slot, the push service, the removal of a subscription
package webpush
