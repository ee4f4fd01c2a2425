-- The tables of the published schemes. They are made anew for each run.

drop table if exists wallet, red_packet, record, share, piece, detail, activity;

-- Money of users. Articles 1 and 3 have it; it is credited in the transaction that stores the grab.
create table wallet (
    user_id text primary key,
    balance bigint not null
);

-- Article 1: the money that is left of a packet. The row goes when the rest is given back.
create table red_packet (
    id      text primary key,
    user_id text not null,
    money   bigint not null,
    number  int not null
);

-- Article 1: who sent, grabbed and got back how much.
create table record (
    packet_id text not null,
    user_id   text not null,
    operation text not null, -- SEND, GRAB or RETURN
    money     bigint not null,
    at        timestamptz not null default clock_timestamp()
);
create index on record (packet_id);

-- Article 2: the shares of a packet, cut before; user_id is null until the share's grab is stored.
create table share (
    packet_id text not null,
    id        int not null,
    money     bigint not null,
    user_id   text,
    primary key (packet_id, id)
);

-- Article 3: a packet, and how much of it is left.
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

-- Article 3: who got what. The article does not keep anyone from grabbing twice; this key does.
create table detail (
    activity_id text not null,
    user_id     text not null,
    amount      bigint not null,
    created_at  timestamptz not null default now(),
    primary key (activity_id, user_id)
);
