-- What the roles of roles.sql may do, for psql as hongbao_owner. Run it after each `hongbao migrate`, before the instances start: a new version
-- may have new tables. No role but the owner can change a table, delete a transfer, claim or packet, or change its amount or user.

begin;

revoke all on all tables in schema public from hongbao, hongbao_reader;
grant select on all tables in schema public to hongbao, hongbao_reader;
revoke select on settings, users from hongbao_reader; -- the key of the bus, and the seeds of future packets
grant select (id, ref, name, avatar, custom, suspended_at, erased_at) on users to hongbao_reader; -- for the audit

-- Rows that are only added.
grant insert on transfers, links, requests, quarantine, participants, rain_waves, persons, imported_texts to hongbao;

-- Rows of which only these columns change: what the end of a packet and a draw write, what has become of a text, what the erasure of a user
-- removes, and which instance uses a chain.
grant insert, update (luckiest) on claims to hongbao;
grant insert, update (status, closed_at, refunded, claimed, done_seq, seed, shares, participants, drawn_at, root, parts, draw_link, waves_drawn, wave_entered, wave_size,
    sender_name, sender_avatar, greeting, passphrase, name_seal, text_seal) on packets to hongbao;
grant insert, update (body, fold, sender_name, sender_avatar, name_seal, text_seal) on entries to hongbao;
grant insert, update (instance, at, free) on chains to hongbao;

-- Sums and states, which the audit computes again from the rows above.
grant insert, update on wallets, rooms, members, users to hongbao;
grant update (amount) on circulation to hongbao;

-- Rows that come and go. Triggers keep the counts of the last 29 days, and the acts of the last 89.
grant insert, delete on admin_acts, reactions, mentions, mentions_of_all, blocks, security_counts, refusals, sockets, figures, events, event_marks, room_words, entry_words to hongbao;
grant insert, delete, update (uses) on invite_links to hongbao;
grant insert, delete, update (at) on join_requests to hongbao;
grant insert, update, delete on settings, indexed_rooms, event_consumers, event_holds, offline_news, push_subscriptions to hongbao;
grant insert, delete, update (state, asked_at, asks, amount, host_key, packet_id, settled_at) on fundings to hongbao;
grant insert, update on reports, erasures, retention to hongbao;
grant insert, delete, update (at) on pictures to hongbao;
grant insert, delete, update (state, counted, received, seq, folder, hash, made, body, touched_at, unclean) on files to hongbao;
grant insert, update (bytes) on file_usage to hongbao;
grant insert, delete on refs, legal_holds to hongbao;
grant insert, delete, update (rules) on room_rules to hongbao;
grant insert, delete, update (admitted) on held_texts to hongbao;

commit;
