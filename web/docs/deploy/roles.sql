-- The roles of hongbao in Postgres, for psql as a superuser, connected to the database of hongbao. Stop the instances first. Running it again
-- changes nothing. It also gives the tables of an older installation to the owner.
--
--   hongbao_owner   owns the tables: it runs `hongbao migrate` and grants.sql, and nothing else
--   hongbao         the instances, with HONGBAO_MIGRATE=check, and the commands credit, restored and datakey
--   hongbao_reader  `hongbao audit`
--
-- Afterwards give each role a password (\password hongbao), or another way to sign in.

do $$
declare
    name text;
begin
    foreach name in array array['hongbao_owner', 'hongbao', 'hongbao_reader'] loop
        if not exists (select from pg_roles where rolname = name) then
            execute format('create role %I login', name);
        end if;
    end loop;
    for name in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
        execute format('alter table public.%I owner to hongbao_owner', name);
    end loop;
    for name in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f'
        and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e') loop -- not those of extensions
        execute format('alter function %s owner to hongbao_owner', name);
    end loop;
end $$;

revoke create on schema public from public;
grant usage, create on schema public to hongbao_owner;
grant usage on schema public to hongbao, hongbao_reader;
grant hongbao to hongbao_owner; -- a migration ends the audits of the instances that are in its way
