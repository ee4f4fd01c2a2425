-- Pictures that users have uploaded as their avatars: the newest ones of each user.

create table pictures (
    user_id text collate "C" not null,
    hash    bytea not null, -- names the picture in its address
    data    bytea not null, -- JPEG
    at      bigint not null,
    primary key (user_id, hash)
);

create index pictures_hash on pictures (hash);
