-- Where the push services of browsers take notifications for users without a socket (Web Push, RFC 8030).

-- A user's rows. id: SHA-256 of the endpoint. p256dh, auth: the browser's keys, with which a notification is encrypted (RFC 8291).
create table push_subscriptions (
    user_id  text not null,
    id       blob not null,
    endpoint text not null,
    p256dh   blob not null,
    auth     blob not null,
    at       integer not null,
    primary key (user_id, id)
) without rowid;
