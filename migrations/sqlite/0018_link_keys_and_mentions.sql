-- Requests to create an invite link that may be repeated, and the texts that mention a user.

-- request: hash of the creator and the request's key; null: the request had no key. sealed_code: the secret of the code, readable with the key alone.
alter table invite_links add column request blob;
alter table invite_links add column sealed_code blob;

-- Rows of a room, like its entries. Only members are in it. at is the time of the entry, so that a user's rows are listed by time.
create table mentions (
    user_id text not null,
    at      integer not null,
    room_id text not null,
    seq     integer not null,
    primary key (user_id, at, room_id, seq)
) without rowid;

-- The texts that an older version has stored.
insert into mentions (user_id, at, room_id, seq)
    select m.user_id, e.at, e.room_id, e.seq
    from entries e
    join json_each(e.body, '$.mentions') named
    join members m on m.room_id = e.room_id and m.user_id = named.value and m.state = 'in'
    where e.kind = 'text' and e.sender <> m.user_id and e.body like '%"mentions":%'
    on conflict do nothing;
