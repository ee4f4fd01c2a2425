-- The tables of the published schemes. They are created for each run.

drop table if exists wallet, red_packet, record, share, piece, detail, activity;

-- Money of users. Articles 1 and 3 have it; it is credited in the transaction that stores the grab.
create table wallet (
    user_id text primary key,
    balance bigint not null
);

-- Article 1: the rest of a packet. The row is deleted when the rest is refunded.
create table red_packet (
    id      text primary key,
    user_id text not null,
    money   bigint not null,
    number  int not null
);

-- Article 1: amounts sent, grabbed and returned, by user.
create table record (
    packet_id text not null,
    user_id   text not null,
    operation text not null, -- SEND, GRAB or RETURN
    money     bigint not null,
    at        timestamptz not null default clock_timestamp()
);
create index on record (packet_id);

-- Article 2: the shares of a packet, cut beforehand; user_id is null until the share's grab is stored.
create table share (
    packet_id text not null,
    id        int not null,
    money     bigint not null,
    user_id   text,
    primary key (packet_id, id)
);

-- Article 3: a packet and its rest.
create table activity (
    id           text primary key,
    sender       text not null,
    total_amount bigint not null,
    amount_left  bigint not null,
    total_pieces int not null,
    pieces_left  int not null,
    version      int not null default 0
);

-- Article 3: the shares of a packet, where they are allocated beforehand. Status 1: available, 2: taken.
create table piece (
    activity_id text not null,
    id          int not null,
    amount      bigint not null,
    status      int not null default 1,
    version     int not null default 0,
    primary key (activity_id, id)
);
create index on piece (activity_id, id) where status = 1;

-- Article 3: the grabs. The article does not prevent a second grab of a user; this key does.
create table detail (
    activity_id text not null,
    user_id     text not null,
    amount      bigint not null,
    created_at  timestamptz not null default now(),
    primary key (activity_id, user_id)
);
