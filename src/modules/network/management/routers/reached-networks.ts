/** SQL for the ids of the networks in `$1`, and of those that a router joins them with. */
export const reachedNetworks = `
  SELECT unnest($1::uuid[]) UNION SELECT other.network_id FROM router_interface one JOIN router_interface other USING (router_id)
   WHERE one.network_id = ANY($1::uuid[])`;
