-- Pictures that users have uploaded as their avatars: the newest ones of each user.

create table pictures (
    user_id text not null,
    hash    blob not null, -- names the picture in its address
    data    blob not null, -- JPEG
    at      integer not null,
    primary key (user_id, hash)
);

create index pictures_hash on pictures (hash);
