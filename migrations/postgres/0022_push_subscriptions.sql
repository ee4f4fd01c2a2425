-- Where the push services of browsers take notifications for users without a socket (Web Push, RFC 8030).

-- A user's rows. id: SHA-256 of the endpoint. p256dh, auth: the browser's keys, with which a notification is encrypted (RFC 8291).
create table push_subscriptions (
    user_id  text collate "C" not null,
    id       bytea not null,
    endpoint text collate "C" not null,
    p256dh   bytea not null,
    auth     bytea not null,
    at       bigint not null,
    primary key (user_id, id)
);
