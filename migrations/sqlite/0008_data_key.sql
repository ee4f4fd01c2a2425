-- The seed of a packet, encrypted with a key outside the database: see package store/secret. Empty: the row is not encrypted.
-- In an encrypted row passphrase is encrypted, too, and seed and shares are empty until the packet is closed.
-- users.next_seed is encrypted if it has more than 32 bytes.

alter table packets add column encrypted_seed blob not null default x'';
