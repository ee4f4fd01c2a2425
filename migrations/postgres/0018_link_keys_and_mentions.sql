-- Requests to create an invite link that may be repeated, and the texts that mention a user.

-- request: hash of the creator and the request's key; null: the request had no key. sealed_code: the secret of the code, readable with the key alone.
alter table invite_links add column request bytea;
alter table invite_links add column sealed_code bytea;

-- Rows of a room, like its entries. Only members are in it. at is the time of the entry, so that a user's rows are listed by time.
create table mentions (
    user_id text collate "C" not null,
    at      bigint not null,
    room_id text collate "C" not null,
    seq     bigint not null,
    primary key (user_id, at, room_id, seq)
);

-- The texts that an older version has stored. jsonb refuses escapes of lone surrogates, which the data of an integrator may have: such texts are left out.
insert into mentions (user_id, at, room_id, seq)
    select m.user_id, e.at, e.room_id, e.seq
    from entries e
    cross join lateral jsonb_array_elements_text(
        case when e.body ~* '\\u(d[89a-f]|0000)' then '[]' else coalesce(e.body::jsonb -> 'mentions', '[]') end) named (id)
    join members m on m.room_id = e.room_id and m.user_id = named.id and m.state = 'in'
    where e.kind = 'text' and e.sender <> m.user_id and e.body like '%"mentions":%'
    on conflict do nothing;
