// Package webpush sends notifications of news to users that have no socket, through the push services of their browsers (Web
// Push: RFC 8030, 8291 and 8292).
//
// A Notifier is a Publisher in front of another one. It passes everything on, and looks only at the entries that this instance
// has committed. So at most one instance sends the notifications of an entry. The Notifier takes the entries that are news: a
// packet, a mention, a direct message. A lost notification is not sent again: the user finds the entry in the room.
//
// It must always hold:
//
//   - Entry never waits for the queue, the store or a push service: besides passing the entry on, it only copies it into a bounded
//     queue. Entries that do not fit are counted and dropped.
//   - A user gets notifications only of rooms that the user is in and has not silenced, and of entries that the user has not read.
//   - For one topic (see topicKey) a user gets one notification after two seconds (gather), and then at most one after each quiet
//     period. Each stands for all news since the one before.
//   - A notification holds names, ids and a count, and no text of a message. It is encrypted for the browser, and always has the
//     same size.
//   - A request goes only to a public address and port 443, unless the operator has allowed the host name (package dial).
//   - No redirect is followed, no proxy is used, and little of an answer is read.
//   - Each push service has a bounded queue and a bounded number of requests under way. All queues together are bounded, too.
//   - All push services that are not known to have taken their last notification quickly share a quarter of the requests. So a
//     slow one delays only these. They have bounds of their own on hosts and on notifications that wait, also for each user. So no number of
//     them keeps a known host from its notifications. The push services of browsers' makers are known from the start.
//   - A topic waits in memory until its quiet period ends. Of all topics that wait, at most mostOfUser were begun by texts and
//     packets of the same user, unless that is the system. A text may mention ids that do not exist, so one user could otherwise
//     begin any number.
//   - A subscription that its push service no longer knows (404, 410) is removed.
//
// From this module, package webpush imports only chat and web/dial. It knows packets only as entries.
//
// Its goroutines:
//
//	goroutine  started by    ends when                        may block on
//	collect    Notifier.Run  its context ends                 the store, with a time limit
//	deliver    Notifier.Run  its context ends                 its tell goroutines, which it waits for
//	tell       deliver       a topic's news are queued        the store and the presence directory, with a time limit
//	worker     sender.send   its host's queue is empty        a slot, the push service, the removal of a subscription
package webpush
